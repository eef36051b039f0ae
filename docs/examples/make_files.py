"""The three files of the first ten minutes: python make_files.py writes hospital.csv, survey.parquet and staff.xlsx into this folder. All made up."""

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq

rng = np.random.default_rng(2024)


def hospital(rows=900):
    """As a clinic's program exports it: semicolons, decimal commas, quotes, a byte order mark and Windows line ends."""
    lines = ["case;age;sex;postcode;weight;diagnosis"]
    names = ["asthma", '"cough; dry"', "diabetes", "flu", "fracture", "migraine"]
    for case in range(rows):
        age, sex = rng.integers(18, 90), rng.choice(["f", "m"])
        weight = f"{rng.normal(68 if sex == 'f' else 80, 9):.1f}".replace(".", ",")
        diagnosis = names[min(rng.integers(6), rng.integers(6))] if age < 50 else rng.choice(names)
        lines.append(f"{10000 + case};{age};{sex};{rng.choice(['01067', '01069', '04103', '04315'])};{weight};{diagnosis}")
    with open("hospital.csv", "wb") as file:
        file.write(b"\xef\xbb\xbf" + "".join(f"{line}\r\n" for line in lines).encode())


def survey(rows=2000):
    """As a statistics program writes it: typed columns, some answers missing."""
    age = rng.integers(16, 80, rows).astype(np.int16)
    region = rng.choice(["Coast", "Hills", "North", "Plain", "South"], rows, p=[0.1, 0.1, 0.3, 0.3, 0.2])
    education = rng.choice(["primary", "secondary", "tertiary"], rows, p=[0.2, 0.5, 0.3])
    vote = rng.choice(["Blue", "Green", "none", "Red", "Yellow"], rows, p=[0.27, 0.2, 0.18, 0.25, 0.1])
    missing = rng.random(rows) < 0.03
    columns = {
        "age": pa.array(age),
        "region": pa.array(region).dictionary_encode(),
        "education": pa.array([None if gone else one for one, gone in zip(education.tolist(), missing, strict=True)]),
        "trust": pa.array(np.round(rng.random(rows) * 10, 1).astype(np.float32)),
        "vote": pa.array(vote),
    }
    pq.write_table(pa.table(columns), "survey.parquet")


def staff(rows=240):
    """As an office keeps it: a workbook whose first sheet is the table."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "staff"
    sheet.append(["Name", "Born", "Unit", "Grade", "Salary band"])
    for k in range(rows):
        grade = int(rng.integers(1, 6))
        band = f"{int(np.clip(grade + rng.integers(-1, 3), 1, 6)) * 10} to {int(np.clip(grade + rng.integers(-1, 3), 1, 6)) * 10 + 9}"
        sheet.append([f"Employee {k + 1}", int(rng.integers(1960, 2003)), str(rng.choice(["Law", "Sales", "Tech"])), grade, band])
    book.create_sheet("notes").append(["not a table"])
    book.save("staff.xlsx")


if __name__ == "__main__":
    hospital()
    survey()
    staff()
